/** The database that a connector or a service uses, as its configuration names it. Contains no secrets. */
export interface DatabasePlace {
  /** `host:port`; several servers, of which the primary one is used, are in alphabetical order and separated by commas. */
  readonly server: string;
  readonly database: string;
  /** The schema of tables whose name contains none; absent: the default of the database. */
  readonly schema?: string | undefined;
}
