// Short notifications. An error stays until the person closes it.

import { signal } from '@preact/signals';

export interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const SHOWN_MS = 5000;
const MOST = 4;

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, tone, text }].slice(-MOST);
  if (tone === 'good') setTimeout(() => closeToast(id), SHOWN_MS);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}
