// The texts of each picture that are not wholly inside it, run over the edge of a box, or lie over another one.
(() => {
  const complaints = [];
  const slack = 1; // pixels
  // The box of a line without the room above its capitals and below its baseline.
  const inkOf = (box) => ({
    left: box.left, right: box.right, top: box.top + 0.2 * box.height, bottom: box.bottom - 0.2 * box.height,
  });
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
  for (const { id: of, shadowRoot } of document.querySelectorAll("div")) {
    const svg = shadowRoot.querySelector("svg"), whole = svg.getBoundingClientRect();
    const edges = [...svg.querySelectorAll("rect")].map((rect) => rect.getBoundingClientRect());
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    if (texts.length < 10) complaints.push(`${of}: ${texts.length} texts`);
    texts.forEach(([text, box], i) => {
      if (box.left < whole.left || box.right > whole.right || box.top < whole.top || box.bottom > whole.bottom) {
        complaints.push(`${of}: "${text}" runs out of the picture`);
      }
      const ink = inkOf(box);
      for (const edge of edges) {
        const across = ink.left < edge.left || ink.right > edge.right || ink.top < edge.top || ink.bottom > edge.bottom;
        if (across && overlap(ink, edge)) complaints.push(`${of}: "${text}" runs over the edge of its box`);
      }
      for (const [other, beside] of texts.slice(i + 1)) {
        if (overlap(ink, inkOf(beside))) complaints.push(`${of}: "${text}" lies over "${other}"`);
      }
    });
  }
  return complaints;
})();
