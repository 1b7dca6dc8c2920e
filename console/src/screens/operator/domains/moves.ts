// What an operator can do to a domain, by how it is.

export type Move = 'ban' | 'unban' | 'disable' | 'enable' | 'suspend' | 'resume' | 'approve';

interface Standing {
  readonly status: string;
  readonly suspended_by: readonly string[];
}

export function movesOf({ status, suspended_by: by }: Standing): Move[] {
  const isOff = status === 'banned' || status === 'disabled';
  return [
    ...(isOff || status === 'active' ? [] : (['approve'] as const)),
    ...(status === 'disabled' ? (['enable'] as const) : isOff ? [] : (['disable'] as const)),
    by.includes('operator') ? 'resume' : 'suspend',
    status === 'banned' ? 'unban' : 'ban',
  ];
}

/** A check is refused for what is switched off. */
export function canCheck({ status }: Standing): boolean {
  return status !== 'banned' && status !== 'disabled';
}

/** What stops answers or rights wants the name typed, or is at least shown as such. */
export const STOPS: readonly Move[] = ['ban', 'disable', 'suspend'];
