// The English texts that several screens or the frame need. Other texts are loaded with their screens (words/*.ts). A text that
// contains a value is a function of that value. Files have the names of the folders in screens/.

import type { Language } from '../language.ts';
import * as common from './common.ts';
import * as domain from './domain.ts';
import * as sharing from './sharing.ts';
import * as signIn from './sign-in.ts';

export const en = {
  language: 'en' as Language,
  locale: 'en-GB',
  ...common,
  ...domain,
  ...sharing,
  ...signIn,
};
