// Converts primaries to fields of the audit log.

import type { Told } from '../../store/audit/tell-audit.ts';
import type { CopiedDomain } from './sql-domain.ts';

/** Describes each primary by one text, because the audit log limits the depth of its fields. */
export function describePrimaries({ primaries }: Pick<CopiedDomain, 'primaries'>): Told {
  return {
    primaries: primaries.map(
      ({ address, port, keyName }) => `${address} port ${port}${keyName === null ? '' : ` key ${keyName}`}`,
    ),
  };
}
