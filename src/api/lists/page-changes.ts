// Answers lists of changes, of one domain or of all.

import { z } from 'zod';
import type { Database } from '../../store/postgres/database.ts';
import type { LogPage } from '../../store/postgres/list-page.ts';
import type { ChangeFilter } from '../../store/records/load-changes.ts';
import type { Problem } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/stream-array.ts';
import { printChanges, type SeenChange, storedSources } from '../print/print-change.ts';
import { ACTOR_KINDS, CHANGE_SOURCES, type Change } from '../schemas/change.ts';
import { listText } from '../schemas/query-text.ts';
import { answerList, type ListCall, logQuery, pagesById } from './paging.ts';

/** A change can have 10,000 records. */
const READ_AT_ONCE = 20;

export function changesQuery(first: 'newest' | 'oldest') {
  return z.object({
    source: listText(CHANGE_SOURCES).optional(),
    actor: listText(ACTOR_KINDS).optional(),
    ...logQuery(first),
  });
}
type ChangesQuery = z.output<ReturnType<typeof changesQuery>>;

interface ChangeLog {
  readonly first: 'newest' | 'oldest';
  readonly load: (page: LogPage, filter: ChangeFilter) => Promise<readonly SeenChange[]>;
  readonly count: (filter: ChangeFilter) => Promise<number>;
}

export function answerChanges(
  db: Database,
  call: ListCall & { readonly query: ChangesQuery },
  { first, load, count }: ChangeLog,
): Promise<z.input<typeof Change>[] | StreamedArray<z.input<typeof Change>> | Problem> {
  const { after, source, actor, sort } = call.query;
  const filter = { after, sources: source?.flatMap(storedSources), actors: actor };
  return answerList(call, {
    load: pagesById<SeenChange>(
      sort?.descends ?? first === 'newest',
      (page) => load(page, filter),
      ({ change }) => change.id,
    ),
    count: () => count(filter),
    print: (changes) => printChanges(db, changes),
    readAtOnce: READ_AT_ONCE,
  });
}
