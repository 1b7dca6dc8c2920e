// Rows of the audit log as the API shows them.

import type { z } from 'zod';
import { ruleOf } from '../../store/audit/audit-actions.ts';
import type { AuditRow } from '../../store/audit/load-audit.ts';
import type { AuditEntry } from '../schemas/audit.ts';

interface Viewer {
  readonly id: number;
  readonly isAdmin: boolean;
}

export function printAudit(row: AuditRow, viewer: Viewer): z.input<typeof AuditEntry> {
  const { id, at, action, accountId, domainId, changeId, targetName, before, after } = row;
  const { target: kind } = ruleOf(action);
  const targetId = row.targetId ?? (kind === 'domain' ? domainId : null);
  return {
    id,
    at: at.toISOString(),
    actor: printActor(row, viewer),
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

/** From where and with what key operators work is not for customers, nor is who runs the command line. */
function printActor({ actor, isByAdmin }: AuditRow, viewer: Viewer): z.input<typeof AuditEntry>['actor'] {
  const { kind, accountId, keyId, address, name } = actor;
  const isHidden = isByAdmin && !viewer.isAdmin && accountId !== viewer.id;
  return {
    kind,
    ...(accountId !== undefined && { user_id: accountId }),
    ...(keyId !== undefined && !isHidden && { key_id: keyId }),
    ...(address !== undefined && !isHidden && { address }),
    ...(name !== undefined && viewer.isAdmin && { name }),
  };
}
