// The status of a domain as a badge with colour and text.

import { words } from '../words/words.ts';

type Tone = 'good' | 'warn' | 'bad' | '';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  pending: 'warn',
  unverified: 'warn',
  moved: 'bad',
  disabled: '',
  banned: 'bad',
};

export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge tone={TONES[status] ?? ''}>
      {words.statuses[status as keyof typeof words.statuses] ?? status}
    </Badge>
  );
}

export function Badge({ tone = '', children }: { readonly tone?: Tone; readonly children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
