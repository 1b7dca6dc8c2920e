// Runs in a page: describes faults of its layout. Scrollable areas may be wider than the page, and text that ends in an
// ellipsis is truncated on purpose.

export const LAYOUT_FAULTS = `(() => {
  const faults = [];
  const root = document.documentElement;
  const describe = (element) => {
    const text = element.getAttribute('aria-label') ?? element.textContent.trim();
    return element.tagName.toLowerCase() + ' "' + text.slice(0, 40) + '"';
  };
  const styleOf = (element) => getComputedStyle(element);
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      element.closest('.only-read, .skip') === null;
  };
  if (root.scrollWidth > root.clientWidth)
    faults.push('the page is wider than the window: ' + root.scrollWidth + ' px of ' + root.clientWidth);

  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(isShown);
  const layerOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      if (['fixed', 'sticky'].includes(styleOf(at).position) || at.popover) return at;
    }
    return null;
  };
  const boxes = controls.map((element) => ({ element, layer: layerOf(element), box: visibleBox(element) }));
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      if (a.layer !== b.layer || a.element.contains(b.element) || b.element.contains(a.element)) continue;
      const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (width > 2 && height > 2) faults.push(describe(a.element) + ' lies over ' + describe(b.element));
    }
  }
  /** Returns the part that remains visible inside the surrounding scrollable areas. */
  function visibleBox(element) {
    let { left, right, top, bottom } = element.getBoundingClientRect();
    for (let at = element.parentElement; at !== null && at !== document.body; at = at.parentElement) {
      if (styleOf(at).overflowX === 'visible') continue;
      const box = at.getBoundingClientRect();
      left = Math.max(left, box.left);
      right = Math.min(right, box.right);
      top = Math.max(top, box.top);
      bottom = Math.min(bottom, box.bottom);
    }
    return { left, right, top, bottom };
  }

  for (const element of document.querySelectorAll('body *')) {
    if (!isShown(element) || element.closest('svg, textarea, select') !== null) continue;
    const { overflowX, overflowY, textOverflow } = styleOf(element);
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!hasText || textOverflow === 'ellipsis') continue;
    const hides = (overflow) => overflow === 'hidden' || overflow === 'clip';
    if ((hides(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
      (hides(overflowY) && element.scrollHeight > element.clientHeight + 1))
      faults.push(describe(element) + ' is cut off');
  }
  return faults;
})()`;
