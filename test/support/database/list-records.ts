// A page of a domain's records, decoded.

import type { Database } from '../../../src/store/postgres/database.ts';
import type { Page, Paged } from '../../../src/store/postgres/list-page.ts';
import {
  decodeListed,
  type ListedRecord,
  listRecordRows,
  type RecordFilter,
  type RecordOrder,
} from '../../../src/store/records/load-records.ts';

/** Throws `CursorError` if the cursor is invalid. */
export async function listRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  page: Page,
): Promise<Paged<ListedRecord>> {
  const { items, cursor } = await listRecordRows(db, domainId, filter, order, page);
  return { items: items.map(decodeListed), cursor };
}
