// Tables that scroll in themselves must be reached by the keyboard, too; the theme wraps them when a page has loaded.
const reach = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
};
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reach);
addEventListener("load", reach);

// A line may end before an option, but not between its hyphens.
for (const code of document.querySelectorAll(".md-typeset :not(pre) > code")) {
  if (code.childElementCount || !/-/.test(code.textContent)) continue;
  const parts = code.textContent.split(/(\s+)/).map((part) => {
    if (!/^-/.test(part)) return part;
    const option = document.createElement("span");
    option.className = "option";
    option.textContent = part;
    return option;
  });
  code.replaceChildren(...parts);
}
