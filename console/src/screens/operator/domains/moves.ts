// Operator actions that the state of a domain allows.

export type Move = 'ban' | 'unban' | 'disable' | 'enable' | 'suspend' | 'resume' | 'approve';

interface Standing {
  readonly status: string;
  readonly dns_mode: 'managed' | 'external';
  readonly served?: string | undefined;
  readonly suspended_by: readonly string[];
}

export function movesOf({ status, dns_mode: mode, suspended_by: by }: Standing): Move[] {
  const isOff = status === 'banned' || status === 'disabled';
  // In external mode the delegation proves nothing.
  const canApprove = mode === 'managed' && !isOff && status !== 'active';
  return [
    ...(canApprove ? (['approve'] as const) : []),
    ...(status === 'disabled' ? (['enable'] as const) : isOff ? [] : (['disable'] as const)),
    by.includes('operator') ? 'resume' : 'suspend',
    status === 'banned' ? 'unban' : 'ban',
  ];
}

/** The API rejects checks of banned and disabled domains, and of external domains that we do not serve. */
export function canCheck({ status, dns_mode: mode, served }: Standing): boolean {
  return status !== 'banned' && status !== 'disabled' && !(mode === 'external' && served === 'none');
}

/** Actions that stop serving or remove rights are styled as dangerous. */
export const STOPS: readonly Move[] = ['ban', 'disable', 'suspend'];
