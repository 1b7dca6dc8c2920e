// A button that opens a list of less frequent actions. The browser closes the list on Escape and on a click elsewhere.

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';

const GAP_PX = 4;

export function MoreMenu({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const button = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  return (
    <span ref={button} class="rec-more">
      <Button popovertarget={id}>
        {label} <span aria-hidden="true">▾</span>
      </Button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: closes the list after a click on one of its buttons */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: browsers send a click for the keys of a button */}
      <div
        ref={list}
        id={id}
        class="rec-more-list"
        popover="auto"
        onBeforeToggle={({ newState }) => {
          if (newState === 'open') placeBelow(list.current, button.current);
        }}
        onClick={(event) => {
          if ((event.target as HTMLElement).closest('a, button') !== null) list.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </span>
  );
}

/** Aligns the end of the list with the end of the button. A popover is positioned relative to the page. */
function placeBelow(list: HTMLElement | null, button: HTMLElement | null): void {
  if (list === null || button === null) return;
  const box = button.getBoundingClientRect();
  const isRtl = getComputedStyle(button).direction === 'rtl';
  const width = document.documentElement.clientWidth;
  list.style.top = `${box.bottom + scrollY + GAP_PX}px`;
  list.style.insetInlineEnd = `${isRtl ? box.left : width - box.right}px`;
}
