// A share as a figure with a bar beside it.

import { words } from '../../../words/words.ts';

export function ShareBar({ share }: { readonly share: number }) {
  const text = share.toLocaleString(words.locale, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <span class="ope-share">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width="100" height="8" />
        <rect class="part" width={100 * share} height="8" />
      </svg>
      <span>{text}</span>
    </span>
  );
}
