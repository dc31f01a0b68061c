import { parseJaas } from '../../src/tls/jaas.ts';
import { parseConnectionUrl } from '../../plugins/database/executor/connection-url.ts';
import { nearestName } from '../../src/config/nearest.ts';
import { fail } from '../../src/data/finding.ts';
import { cut, liveLines, redrawing } from '../../src/dev/live-lines.ts';
import { ImageDownload, MavenDownload } from '../../src/dev/progress.ts';
import { textReport } from '../../src/cli/doctor/report.ts';
import { learnSecrets } from '../../src/cli/doctor/secrets.ts';
import { parseProperties } from '../../src/config/properties-file.ts';
import { parseValue } from '../../src/config/parse.ts';
import { optionText } from '../../src/config/to-text.ts';
import { hasVariables, replaceVariables, variablesOf } from '../../src/config/providers/variables.ts';
import { headerRules, parseHeaderRules, parseListener } from '../../src/config/rest-validators.ts';
import { parseVersionRange } from '../../src/config/version-range.ts';
import { listEntries } from '../../src/config/list-text.ts';
import { validRegex, distinctList, uniqueAliases } from '../../src/config/validators.ts';
import { JavaPattern } from '../../src/java/java-regex.ts';
import { SimpleDateFormat } from '../../src/java/date-format/simple-date-format.ts';
import { castSpec } from '../../src/transforms/cast-spec.ts';
import { FieldPath } from '../../src/transforms/field-path.ts';
import { tableFormatProblem, TableNames } from '../../plugins/database/formats/struct/struct-table-names.ts';
import { jaasFileOf } from '../../src/tls/jaas-file.ts';
import { SecretMask } from '../../src/observe/secret-mask.ts';
import { parseInitialTime } from '../../plugins/db-source/initial-time.ts';
import { topicName } from '../../plugins/db-source/topic-names.ts';
import { scanner, type Scanner } from './scanner.ts';

const TYPES = ['STRING', 'LIST', 'BOOLEAN', 'CLASS', 'DOUBLE', 'INT', 'LONG', 'PASSWORD'] as const;
/** Patterns of every kind, for texts that they nearly match. */
const JAVA_PATTERNS = ['(a*)*b', '(?:a|aa)+$', '.*.*.*x', '(.*)(\\d+)(.*)y', 'a*+b', '(?<=a+)b', '(a)\\1*b', '\\X+z'];

/** Configurations of workers and connectors, and files that they name. */
export const CONFIGURATION_SCANNERS: readonly Scanner[] = [
  ...TYPES.map((type) =>
    scanner(`option of type ${type}`, (text) => optionText(parseValue('option', type, text), type)),
  ),
  scanner('list entries', listEntries),
  scanner('distinct list', (text) => distinctList().check('list', parseValue('list', 'LIST', text))),
  scanner('aliases', (text) => uniqueAliases('a', 'b').check('transforms', parseValue('list', 'LIST', text))),
  scanner('variables', (text) => [variablesOf(text), hasVariables(text), replaceVariables(text, () => undefined)]),
  scanner('properties file', parseProperties),
  scanner('JSON properties file', (text) => parseProperties(`{${text}`)),
  scanner('connection URL', parseConnectionUrl),
  scanner('connection URL with a host', (text) => parseConnectionUrl(`jdbc:postgresql://${text}`)),
  scanner('connection URL with parameters', (text) => parseConnectionUrl(`postgresql://u:p@h:1/d?${text}`)),
  scanner('header rules', (text) => [headerRules.check('rules', text), parseHeaderRules(text)]),
  scanner('listener', parseListener),
  scanner('version range', parseVersionRange),
  scanner('version range in brackets', (text) => parseVersionRange(`[${text}]`)),
  scanner('JAAS', parseJaas),
  scanner('JAAS options', (text) => parseJaas(`a.B required ${text};`)),
  scanner('options of a JVM', (text) => jaasFileOf(text)),
  scanner('Java pattern', (text) => [validRegex.check('pattern', text), JavaPattern.compile(text)]),
  scanner('Java pattern and its text', (text) => JavaPattern.compile(text).replaceFirst(text, text)),
  scanner('replacement for a Java pattern', (text) => JavaPattern.compile('(a)').replaceFirst('a', `$${text}`)),
  scanner('date pattern', (text) => new SimpleDateFormat(text).format(0)),
  scanner('Cast spec', (text) => castSpec(text.split(','))),
  scanner('field path', (text) => new FieldPath(text, 'V2')),
  scanner('table name format', (text) => [
    tableFormatProblem(text),
    new TableNames(text).of({ topic: 't', value: null }),
  ]),
  scanner('initial time', (text) => parseInitialTime(text, Date.now())),
  scanner('initial time zone', (text) => parseInitialTime(`2024-01-01 00:00:00 ${text}`, Date.now())),
  scanner('topic name', (text) => topicName({ prefix: text, delimiter: '.', names: 'keep' } as never, text)),
  scanner('unknown option', (text) => [
    nearestName(text, [text, 'offset.storage.topic']),
    nearestName('listener', [text]),
  ]),
  scanner('passwords of a property', (text) => learnSecrets({ url: text, password: text }, new SecretMask())),
  scanner('finding of the doctor', (text) =>
    textReport([{ name: text, findings: [fail(text, text, text)] }], new SecretMask(), false),
  ),
  scanner('line of the live view', (text) => [
    redrawing(
      [text],
      liveLines({
        sinkRows: 0,
        sourceRecords: 0,
        connectors: [{ name: text, state: '', tasks: [], waitsFor: [] }],
        away: [{ service: 'Kafka', since: new Date(0), reason: text }],
      }),
      {
        columns: 80,
        rows: 24,
      },
    ),
    cut(text, 80),
  ]),
  scanner('line of Maven or Docker', (text) => [
    new MavenDownload('', 1).read(`Downloaded from ${text}`),
    new ImageDownload('').read(text),
  ]),
  scanner('text with secrets', (text) => {
    const mask = new SecretMask();
    mask.add(text);
    mask.add('a secret');
    return mask.hide(text + text);
  }),
];

/** Texts for Java's regular expressions, whose steps are counted. */
export const JAVA_PATTERN_SCANNERS: readonly Scanner[] = JAVA_PATTERNS.map((pattern) => {
  const compiled = JavaPattern.compile(pattern);
  return scanner(`text for the Java pattern ${pattern}`, (text) => [
    attempt(() => compiled.matches(text)),
    attempt(() => compiled.replaceFirst(text, '$0')),
  ]);
});

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
