// The button below a list that loads its next page.

import type { Pages } from '../api/use-pages.ts';
import { words } from '../words/words.ts';
import { Button } from './button.tsx';
import { Failure } from './failure.tsx';

interface MoreProps<T> {
  readonly of: Pages<T>;
  readonly label?: string;
}

export function More<T>({ of, label = words.common.more }: MoreProps<T>) {
  return (
    <>
      <Failure error={of.moreError} />
      {of.hasMore && (
        <Button isBusy={of.isLoadingMore} onClick={() => void of.more()}>
          {label}
        </Button>
      )}
    </>
  );
}
