import { createHmac, randomBytes } from 'node:crypto';
import type { Password } from '../../../src/index.ts';

/** A user and the password that opens connections as that user. Lives in memory only. */
export interface Identity {
  readonly user: string;
  readonly password: Password;
  /** Equal for equal user and password within this process; tells nothing about either. */
  readonly key: string;
}

/** Known to this process alone, so that a dump of keys is of no use elsewhere. */
const salt = randomBytes(32);

export function identityOf(user: string, password: Password): Identity {
  const key = createHmac('sha256', salt).update(`${user}\0${password.reveal()}`).digest('base64');
  return { user, password, key };
}
