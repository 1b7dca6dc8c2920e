// Light or dark colours: the setting of the system, unless the person chooses.

import { effect, signal } from '@preact/signals';
import { keep, kept } from './storage.ts';

type Choice = 'system' | 'light' | 'dark';

const KEY = 'theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export const theme = signal<Choice>(read());
export const isDark = signal(false);

export function applyTheme(): void {
  const apply = () => {
    isDark.value = theme.value === 'dark' || (theme.value === 'system' && system.matches);
    document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
  };
  system.addEventListener('change', apply);
  effect(apply);
}

export function chooseTheme(choice: Choice): void {
  theme.value = choice;
  keep(KEY, choice);
}

function read(): Choice {
  const choice = kept(KEY);
  return choice === 'light' || choice === 'dark' ? choice : 'system';
}
