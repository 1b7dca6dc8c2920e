// A domain as it is answered: if it has a TXT record to publish, with what the servers said when the TXT record was last looked for.

import type { z } from 'zod';
import type { VisibleDomain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { findNewestVerification } from '../../store/verifications/load-verifications.ts';
import type { Domain } from '../schemas/domain.ts';
import { printDomain } from './print-domain.ts';

export async function answerDomain(
  { db, movedGraceMs }: { readonly db: Database; readonly movedGraceMs?: number | undefined },
  domain: VisibleDomain,
): Promise<z.input<typeof Domain>> {
  const { id, verification } = domain;
  if (verification === null) return printDomain(domain, { movedGraceMs });
  const run = await findNewestVerification(db, id, verification.value);
  return printDomain(domain, { movedGraceMs, progress: { run } });
}
