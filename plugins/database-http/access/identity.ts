import { createHmac, randomBytes } from 'node:crypto';
import type { Password } from '../../../src/index.ts';

/** A user and the password that opens connections as that user. Lives in memory only. */
export interface Identity {
  readonly user: string;
  readonly password: Password;
  /** Hash of user and password; equal for equal values within this process. It reveals neither. */
  readonly key: string;
}

/** The salt is known to this process only, so that leaked keys are useless elsewhere. */
const salt = randomBytes(32);

export function identityOf(user: string, password: Password): Identity {
  const key = createHmac('sha256', salt).update(`${user}\0${password.reveal()}`).digest('base64');
  return { user, password, key };
}
