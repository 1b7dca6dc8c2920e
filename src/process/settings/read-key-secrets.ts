// The secrets in the file that `npm start` keeps, which has the form of KEY_SECRETS.

import { readSettings, type SettingsOf } from './read-settings.ts';

/** Throws SettingsError where the text has another form. */
export function readKeySecrets(text: string): SettingsOf<'API'>['keySecrets'] {
  return readSettings({ KEY_SECRETS: text }).keySecrets;
}
