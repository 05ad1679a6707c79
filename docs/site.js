// Tables that scroll in themselves must be reached by the keyboard, too; the theme wraps them when a page has loaded.
const reach = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
};
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reach);
addEventListener("load", reach);
