// Rows of the audit log as the API shows them.

import type { z } from 'zod';
import { ruleOf } from '../../store/audit/audit-actions.ts';
import type { AuditRow } from '../../store/audit/load-audit.ts';
import type { AuditEntry } from '../schemas/audit.ts';
import { mayTrace, printActor, type Viewer } from './print-actor.ts';

export function printAudit(row: AuditRow, viewer: Viewer): z.input<typeof AuditEntry> {
  const { id, at, action, accountId, domainId, changeId, targetName, before, after } = row;
  const { target: kind } = ruleOf(action);
  const targetId = row.targetId ?? (kind === 'domain' ? domainId : null);
  return {
    id,
    at: at.toISOString(),
    actor: {
      ...printActor(row.actor, mayTrace(row, viewer)),
      // who runs the command line is not for customers
      ...(row.actor.name !== undefined && viewer.isAdmin && { name: row.actor.name }),
    },
    action,
    target: {
      kind,
      ...(targetId !== null && { id: targetId }),
      ...(targetName !== null && { name: targetName }),
    },
    ...(accountId !== null && { user_id: accountId }),
    ...(domainId !== null && { domain_id: domainId }),
    ...(changeId !== null && { change_id: changeId }),
    ...(before !== null && { before }),
    ...(after !== null && { after }),
  };
}
