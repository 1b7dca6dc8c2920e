// A list of links that a narrow page shows behind a button, which names the current page.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { usePlace } from './place.tsx';

interface NavigationProps {
  readonly class: string;
  readonly label: string;
  /** The current page. */
  readonly here: string;
  readonly children: ComponentChildren;
}

export function Navigation({ class: name, label, here, children }: NavigationProps) {
  const { path } = usePlace();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <nav
      class={`${name} ${isOpen ? 'open' : ''}`}
      aria-label={label}
      onKeyDown={({ key }) => {
        if (key === 'Escape') setOpen(false);
      }}
    >
      <button type="button" class="button menu" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">☰</span> {here}
      </button>
      {children}
    </nav>
  );
}
