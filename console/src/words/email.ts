// The texts of the email setup, which are loaded with its page.

import { email as english } from './en/email.ts';
import { persian } from './persian.ts';

export const email: typeof english = persian?.email ?? english;
