// A percentage with a bar.

import { shareText } from './share-text.ts';

/** `isMuch`: unusually high. */
export function ShareBar({ share, isMuch }: { readonly share: number; readonly isMuch: boolean }) {
  return (
    <span class={isMuch ? 'ope-share much' : 'ope-share'}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width="100" height="8" />
        <rect class="part" width={100 * share} height="8" />
      </svg>
      <span>{shareText(share)}</span>
    </span>
  );
}
