// Search runs in a worker, which browsers do not start from file://. For a site opened from disk it runs in a hidden frame.
if (window.location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.started = new Promise((resolve) => {
        const attach = () => {
          document.body.appendChild(frame);
          const scope = frame.contentWindow;
          // As with a worker, an answer comes later, and is a copy.
          scope.postMessage = (data) => {
            const event = new MessageEvent("message", { data: structuredClone(data) });
            setTimeout(() => {
              this.dispatchEvent(event);
              if (this.onmessage) this.onmessage(event);
            });
          };
          scope.importScripts = () => Promise.resolve();
          const script = scope.document.createElement("script");
          script.src = url;
          script.onload = () => resolve(scope);
          scope.document.body.appendChild(script);
        };
        if (document.body) attach();
        else document.addEventListener("DOMContentLoaded", attach);
      });
      this.frame = frame;
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.started.then((scope) => {
        setTimeout(() => scope.dispatchEvent(new scope.MessageEvent("message", { data: copy })));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
