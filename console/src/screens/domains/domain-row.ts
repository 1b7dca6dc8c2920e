// One domain as the list has it.

import type { Schemas } from '../../api/client.ts';

export type DomainRow = Schemas['DomainListItem'];
