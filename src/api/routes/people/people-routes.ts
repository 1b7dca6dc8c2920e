// The routes for signing in and for the caller's own account.

import { KEY_ROUTES } from './keys.ts';
import { OTP_ROUTES } from './otp.ts';
import { PASSWORD_ROUTES } from './password.ts';
import { PROFILE_ROUTES } from './profile.ts';
import { register } from './register.ts';
import { SESSION_ROUTES } from './sessions.ts';

export const PEOPLE_ROUTES = [
  register,
  ...SESSION_ROUTES,
  ...PASSWORD_ROUTES,
  ...OTP_ROUTES,
  ...PROFILE_ROUTES,
  ...KEY_ROUTES,
];
