import type { ConnectionFindings, ConsoleValidation } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';
import type { Entry } from './config-document.ts';
import { errorsOf } from './config-form.ts';

type Findings = ConnectionFindings['findings'];

/** Whether the connection of a validated configuration can be checked: it has no error, and no secret is withheld. */
export function isConnectable(validation: ConsoleValidation | undefined): boolean {
  return validation !== undefined && errorsOf(validation).size === 0 && validation.withheld.keys.length === 0;
}

/** The options that determine the connection, as text. The connection is checked again when they change. */
export function connectionKey(entries: readonly Entry[]): string {
  return JSON.stringify(entries.filter(([key]) => /^(?:connector\.class$|connection\.|database\.)/.test(key)));
}

const DATABASE = 'database';
/**
 * Findings that are shown even if they are not problems: rights, the tables that are read or written, and the query.
 */
const SHOWN = /^(?:rights|tables?|query)\b/;
const MAX_SHOWN = 3;

/** One line about the connection: whether it works, as whom, with which rights; `undefined` if the connector has no database. */
export function connectionText(findings: Findings): string | undefined {
  const database = findings.find(({ about }) => about === DATABASE);
  if (database === undefined) return undefined;
  if (database.level === 'fail') return texts.notConnected(database.message);
  const more = findings.filter(({ level, about }) => level === 'ok' && SHOWN.test(about)).slice(0, MAX_SHOWN);
  return [texts.connected(database.message), ...more.map(({ about, message }) => texts.finding(about, message))].join(
    ' ',
  );
}

/** The findings that need attention. The failed connection itself is in `connectionText`. */
export function connectionProblems(findings: Findings): Findings {
  return findings.filter(({ level, about }) => level !== 'ok' && about !== DATABASE);
}

/** The command or setting that makes the connection work; `undefined` if it works or none is known. */
export function connectionRemedy(findings: Findings): string | undefined {
  return findings.find(({ level, about }) => level === 'fail' && about === DATABASE)?.remedy;
}
