// Chooses the language. Each language has its own name, which its speakers find in any other language.

import { chooseLanguage, LANGUAGES, type Language } from '../words/language.ts';
import { words } from '../words/words.ts';

export function LanguagePicker() {
  return (
    <label class="language">
      <span>{words.frame.language}</span>
      <select
        value={words.language}
        onChange={({ currentTarget }) => chooseLanguage(currentTarget.value as Language)}
      >
        {Object.entries(LANGUAGES).map(([language, { name }]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
