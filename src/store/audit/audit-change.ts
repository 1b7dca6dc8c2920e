// How the audit log names a change of a domain. The change itself stays in the log of changes: the row refers to it.

import type { ActorKind, DomainOperation } from '../postgres/tables/schema.ts';
import type { AuditAction } from './audit-actions.ts';

interface ChangeToTell {
  readonly operation: DomainOperation;
  readonly actor: ActorKind;
  /** The status before and after it. */
  readonly status?: { readonly from: string | null; readonly to: string | null } | undefined;
}

const ACTIONS: Readonly<Record<DomainOperation, AuditAction | undefined>> = {
  create: 'domain.create',
  edit: 'records.edit',
  rules: 'rules.edit',
  status: 'domain.status',
  nameservers: 'domain.nameservers',
  move: 'domain.move',
  delete: 'domain.delete',
  restore: 'domain.restore',
  dnssec: 'domain.dnssec',
  // What follows from settings of the service, and from other zones, is nobody's write.
  settings: undefined,
  addresses: undefined,
};

/** Undefined: the change is not one to be told. Of what the system does, only moves and edits are. */
export function actionOfChange({ operation, actor, status }: ChangeToTell): AuditAction | undefined {
  const isMove = status !== undefined && status.from !== status.to;
  if (actor === 'system' && operation !== 'edit' && !isMove) return undefined;
  return ACTIONS[operation];
}
