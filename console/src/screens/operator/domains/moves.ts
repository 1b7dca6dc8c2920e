// What an operator can do to a domain, by how it is.

export type Move = 'ban' | 'unban' | 'disable' | 'enable' | 'suspend' | 'resume' | 'approve';

interface Standing {
  readonly status: string;
  readonly dns_mode: 'managed' | 'external';
  readonly served?: string | undefined;
  readonly suspended_by: readonly string[];
}

export function movesOf({ status, dns_mode: mode, suspended_by: by }: Standing): Move[] {
  const isOff = status === 'banned' || status === 'disabled';
  // In external mode no delegation proves anything.
  const canApprove = mode === 'managed' && !isOff && status !== 'active';
  return [
    ...(canApprove ? (['approve'] as const) : []),
    ...(status === 'disabled' ? (['enable'] as const) : isOff ? [] : (['disable'] as const)),
    by.includes('operator') ? 'resume' : 'suspend',
    status === 'banned' ? 'unban' : 'ban',
  ];
}

/** A check is refused for what is switched off, and for what is answered elsewhere alone. */
export function canCheck({ status, dns_mode: mode, served }: Standing): boolean {
  return status !== 'banned' && status !== 'disabled' && !(mode === 'external' && served === 'none');
}

/** What stops answers or takes rights away is shown as such. */
export const STOPS: readonly Move[] = ['ban', 'disable', 'suspend'];
