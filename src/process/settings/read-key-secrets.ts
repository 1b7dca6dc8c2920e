// Reads the secrets file that `npm start` keeps, which has the format of KEY_SECRETS.

import { readSettings, type SettingsOf } from './read-settings.ts';

/** Throws SettingsError if the text has another format. */
export function readKeySecrets(text: string): SettingsOf<'API'>['keySecrets'] {
  return readSettings({ KEY_SECRETS: text }).keySecrets;
}
