// The texts of the settings of a domain, which are loaded with their pages.

import * as english from './en/domain-settings.ts';
import { persian } from './persian.ts';

export const domainSettings: typeof english.domainSettings =
  persian?.domainSettings ?? english.domainSettings;
