// The texts of each picture that are not wholly inside it, or lie over another one.
(() => {
  const complaints = [];
  const slack = 1; // pixels
  // The box of a line without the room above its capitals and below its baseline.
  const inkOf = (box) => ({
    left: box.left, right: box.right, top: box.top + 0.2 * box.height, bottom: box.bottom - 0.2 * box.height,
  });
  for (const svg of document.querySelectorAll("svg")) {
    const of = svg.parentElement.id;
    const whole = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    if (texts.length < 10) complaints.push(`${of}: ${texts.length} texts`);
    texts.forEach(([text, box], i) => {
      if (box.left < whole.left || box.right > whole.right || box.top < whole.top || box.bottom > whole.bottom) {
        complaints.push(`${of}: "${text}" runs out of the picture`);
      }
      for (const [other, beside] of texts.slice(i + 1)) {
        const [a, b] = [inkOf(box), inkOf(beside)];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack) {
          complaints.push(`${of}: "${text}" lies over "${other}"`);
        }
      }
    });
  }
  return complaints;
})();
