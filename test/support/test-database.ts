/** A PostgreSQL server and the login of its superuser. */
export interface ServerAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface TestDatabase extends ServerAccess {
  readonly database: string;
  /** `postgresql://…`, with the password. */
  readonly url: string;
}
