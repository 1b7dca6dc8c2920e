// The language of the console: the one chosen in this browser, otherwise the browser's first language that the console has.

import { keep, kept } from '../app/storage.ts';

export const LANGUAGES = {
  en: { name: 'English', direction: 'ltr' },
  fa: { name: 'فارسی', direction: 'rtl' },
} as const;

export type Language = keyof typeof LANGUAGES;

const KEY = 'language';

/** @param preferred language tags such as `fa-IR`, the preferred one first */
export function languageFor(chosen: string | undefined, preferred: readonly string[]): Language {
  const tags = chosen === undefined ? preferred : [chosen, ...preferred];
  const languages = tags.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  return languages.find(isLanguage) ?? 'en';
}

function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}

/** In tests there is no page. */
export const wantedLanguage = languageFor(
  kept(KEY),
  typeof document === 'undefined' ? [] : navigator.languages,
);

/** Reloads the page. Texts that are not saved remain as drafts. */
export function chooseLanguage(language: Language): void {
  keep(KEY, language);
  location.reload();
}
