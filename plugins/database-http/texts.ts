const ENDPOINTS_OF_CHANGES: ReadonlyMap<string, string> = new Map([
  ['insert', '/restapi/insert'],
  ['update', '/restapi/ddl'],
  ['delete', '/restapi/ddl'],
]);

/** Texts that clients may match on. */
export const TEXTS = {
  success: 'success',
  unknownUrl: 'URL does not exist',
  onlyGet: 'support only GET method.',
  onlyGetAndDelete: 'only support GET/DELETE method.',
  onlyPost: 'only support POST method',
  emptyBody: 'invalid request body',
  notBasic: 'can not find Basic attribute, please check',
  malformedCredentials: 'wrong username or password, please check',
  noMatch: 'the provided username and password did not match any credentials on the server.',
  // This text contains both the documented text and the one that the original database (docs/database-api.md) sends, so
  // that a search finds either.
  unknownToken: 'Incorrect authentication token: can not find token, need login first',
  unknownTokenOnSessions: 'Incorrect authentication token: can not verify',
  noPasswordAsked:
    'the database does not ask this user for a password, so that it cannot be checked; the log of the worker says more',
  databaseAtLogin: 'wrong db parameter for login.',
  notForDdl: 'wrong statement for ddl interface and please check',
  notForInsert: 'can not find insert statement and please check',
  oneQuery: 'only support single statement for each query interface, please check.',
  notForQuery: (keyword: string) => `do not support ${keyword} statement for query interface, please check.`,
  changesInQuery: (kind: string) => {
    const word = kind.toUpperCase();
    const endpoint = ENDPOINTS_OF_CHANGES.get(kind);
    const instead =
      endpoint === undefined ? 'no endpoint takes it' : `send a statement that begins with ${word} to ${endpoint}`;
    return `this WITH has the statement ${word}, and /restapi/query runs only statements that read: ${instead}`;
  },
  notUsed: (database: string) =>
    `not run: USE failed before it, and it would have run in database "${database}"; send it again with a USE that succeeds, or with ?db=`,
  noSessionNamed:
    'invalid request body: send the id of a session; only a request with a token has a session of its own to end',
  noSession: 'no connid matching the given one was found.',
  notYours: 'do not have authority, please check.',
  deleted: 'delete success',
  oneWithParameters: 'a request with params has one statement',
  noParameters: 'this statement takes no params: it is run as several statements',
  manyStatements: (most: number) =>
    `a request has at most ${String(most)} statements: send them in several requests, or rows in fewer INSERTs of many rows`,
  longStatement: (maxLength: number) =>
    `a statement has at most ${String(maxLength)} characters here (max.statement.length): send rows in several statements, or to an ingestion endpoint`,
  longRow: (maxBytes: number) =>
    `the first row of the answer does not fit into ${String(maxBytes)} bytes (query.max.bytes): select fewer columns or parts of its values, or ask for CSV or NDJSON, which have no limit`,
  databaseAway: 'the database is not available now, please try again later',
  noConnection: 'get connection timeout',
  noRoom: 'the answers of other queries take all the memory for answers (query.held.bytes), please try again later',
  tooManyConnections: (limit: number) => `too many HTTP connections: at most ${String(limit)} at the same time`,
  tooManyForToken: (limit: number) => `too many concurrent connections with this token: at most ${String(limit)}`,
  tooManyAttempts: 'too many failed logins, please try again later',
  internal: 'internal error; the log of the worker says more',
} as const;
