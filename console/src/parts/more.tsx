// The button below a list that brings its next page.

import type { Pages } from '../api/use-pages.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';

export function More<T>({ of }: { readonly of: Pages<T> }) {
  return (
    <>
      <Failure error={of.moreError} />
      {of.hasMore && (
        <Button isBusy={of.isLoadingMore} onClick={() => void of.more()}>
          {words.common.more}
        </Button>
      )}
    </>
  );
}
