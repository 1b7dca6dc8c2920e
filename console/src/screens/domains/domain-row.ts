// One domain as the list has it.

import type { Schemas } from '../../api/client.ts';
import { person } from '../../app/session.ts';

export type DomainRow = Schemas['DomainListItem'];

/** A name in a path means one's own domain first; an operator sees several of one name, so others are named by their id. */
export function nameInPath(row: DomainRow): string {
  const { user_id: me, admin } = person();
  return admin && row.user_id !== me ? String(row.id) : row.name;
}
