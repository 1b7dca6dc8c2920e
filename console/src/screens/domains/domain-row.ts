// A domain as an item of the list.

import type { Schemas } from '../../api/client.ts';
import { person } from '../../app/session.ts';

export type DomainRow = Schemas['DomainListItem'];

/** A name in a path selects the person's own domain first. Operators may see several domains with one name, so others are addressed by id. */
export function nameInPath(row: DomainRow): string {
  const { user_id: me, admin } = person();
  return admin && row.user_id !== me ? String(row.id) : row.name;
}
