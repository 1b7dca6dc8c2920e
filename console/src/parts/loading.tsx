// Shows loaded data, or that it is being loaded, or an error with a button to try again.

import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/use-load.ts';
import { words } from '../words/words.ts';
import { Failure } from './failure.tsx';

export function Loading<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      <Failure error={of.error} onRetry={() => void of.reload()} />
      {of.data !== undefined ? children(of.data) : of.error === undefined ? <Skeleton /> : null}
    </>
  );
}

/** Lines in place of content that is being loaded. They appear only if it takes longer than a moment. */
export function Skeleton() {
  return (
    <div class="skeleton" role="status">
      <span class="only-read">{words.common.loading}</span>
      <span aria-hidden="true" />
      <span aria-hidden="true" />
      <span aria-hidden="true" />
    </div>
  );
}
