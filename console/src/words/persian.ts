// The Persian texts, which are loaded before anything is shown if the language is Persian.

import { wantedLanguage } from './language.ts';

/** Undefined for another language, or if the file cannot be loaded: the console is then in English. */
export const persian =
  wantedLanguage === 'fa' ? await import('./fa/fa.ts').catch(() => undefined) : undefined;
