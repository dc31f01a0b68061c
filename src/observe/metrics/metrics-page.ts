import type { MetricKind } from './metric-group.ts';
import { METRIC_GROUPS } from './metric-groups.ts';
import { NAMINGS, type Labels, type MetricName, type NamedGroup, type NamingName } from './metric-names.ts';
import type { MetricSet, MetricValue } from './metric-set.ts';

/** Prometheus' text format, or OpenMetrics. */
export type MetricsFormat = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary';

interface Family {
  readonly type: FamilyType;
  readonly help: string;
  /**
   * The naming that writes the samples. If two namings share a name, only the first one writes it; otherwise sums over
   * the name would count values twice.
   */
  readonly writer: string;
  /** The lines of the samples, as they are sent. */
  readonly lines: string[];
}

const OWN = 'own';

/** How one attribute of a group is shown in one naming. */
interface Shown {
  readonly names: readonly MetricName[];
  readonly type: FamilyType;
  readonly help: string;
}

/** How attributes are shown, cached by naming, domain and group, then by attribute. The number of attributes is limited. */
const shownAttributes = new Map<string, Map<string, Shown>>();

/** The body of one response of `/metrics`: samples in the given namings. */
export class MetricsPage {
  readonly #namings: readonly NamingName[];
  readonly #families = new Map<string, Family>();

  constructor(namings: readonly NamingName[]) {
    this.#namings = namings;
  }

  /** Adds metrics of Connect or of its clients in every naming. Help texts come from METRIC_GROUPS. */
  add(set: MetricSet): void {
    for (const naming of this.#namings) {
      const pairs = pairsText(NAMINGS[naming].labels(set));
      const key = `${naming} ${set.domain} ${set.group}`;
      let ofGroup = shownAttributes.get(key);
      if (ofGroup === undefined) {
        ofGroup = new Map<string, Shown>();
        shownAttributes.set(key, ofGroup);
      }
      for (const attribute in set.values) {
        const value = set.values[attribute] ?? NaN;
        let shown = ofGroup.get(attribute);
        if (shown === undefined) ofGroup.set(attribute, (shown = shownAs(naming, set, attribute, value)));
        for (const name of shown.names) {
          const family = this.#family(name.name, shown, naming);
          if (family.writer === naming) family.lines.push(lineOf(name, pairs, value));
        }
      }
    }
  }

  /** Adds one of this worker's own metrics, which has the same name in all namings. */
  gauge(name: string, help: string, labels: Labels, value: number): void {
    this.part(name, 'gauge', help, { name, labels, value });
  }

  /** As `gauge`; `name` ends in `_total`. */
  counter(name: string, help: string, labels: Labels, value: number): void {
    this.part(name, 'counter', help, { name, labels, value });
  }

  /** Adds one sample of a family with several names, such as a histogram with its buckets. */
  part(
    family: string,
    type: FamilyType,
    help: string,
    { name, labels, value }: { readonly name: string; readonly labels: Labels; readonly value: number },
  ): void {
    this.#family(family, { type, help }, OWN).lines.push(lineOf({ name }, pairsText(labels), value));
  }

  /** Declares a family before its samples, or without any. */
  declare(name: string, type: FamilyType, help: string): void {
    this.#family(name, { type, help }, OWN);
  }

  /** Yields the text of the response, one metric family at a time. */
  *pieces(format: MetricsFormat): Generator<string> {
    for (const [name, family] of this.#families) {
      const [shown, type] = format === 'text' ? [name, family.type] : this.#inOpenMetrics(name, family);
      yield `# HELP ${shown} ${helpText(family.help)}\n# TYPE ${shown} ${type}\n${family.lines.join('')}`;
    }
    if (format === 'openmetrics') yield '# EOF\n';
  }

  text(format: MetricsFormat): string {
    return [...this.pieces(format)].join('');
  }

  #family(name: string, { type, help }: Pick<Family, 'type' | 'help'>, writer: string): Family {
    let family = this.#families.get(name);
    if (family === undefined) this.#families.set(name, (family = { type, help, writer, lines: [] }));
    return family;
  }

  /**
   * In OpenMetrics, the samples of a counter end in `_total`, but the name of its family does not. Not all of Java's
   * counters have this ending; counters without it have the type `unknown`.
   */
  #inOpenMetrics(name: string, { type }: Family): readonly [name: string, type: string] {
    if (type !== 'counter') return [name, type];
    const base = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name;
    return base === name || this.#families.has(base) ? [name, 'unknown'] : [base, type];
  }
}

function shownAs(naming: NamingName, of: NamedGroup, attribute: string, value: MetricValue): Shown {
  const [kind, help] = METRIC_GROUPS[of.group]?.[attribute] ?? ['gauge', `${of.group} ${attribute}`];
  return { names: NAMINGS[naming].names(of, attribute, typeof value === 'string'), type: typeOf(kind), help };
}

function typeOf(kind: MetricKind): FamilyType {
  return kind === 'counter' ? 'counter' : 'gauge';
}

/** `connector="c",task="0"` */
function pairsText(labels: Labels): string {
  let pairs = '';
  for (const label in labels) pairs += `${pairs === '' ? '' : ','}${label}="${labelText(labels[label] ?? '')}"`;
  return pairs;
}

function lineOf({ name, valueLabel, factor }: MetricName, pairs: string, value: MetricValue): string {
  if (valueLabel !== undefined) {
    return `${name}{${pairs}${pairs === '' ? '' : ','}${valueLabel}="${labelText(String(value))}"} 1\n`;
  }
  const number = numberText(factor === undefined ? Number(value) : Number(value) * factor);
  return pairs === '' ? `${name} ${number}\n` : `${name}{${pairs}} ${number}\n`;
}

function labelText(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

function helpText(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

/**
 * The format for a client with this `Accept` header: OpenMetrics if the client prefers it, as Prometheus does,
 * otherwise plain text. As in Prometheus' client libraries, a client that accepts neither gets plain text too.
 */
export function formatFor(accept: string | undefined): MetricsFormat {
  const best = { openmetrics: 0, text: 0 };
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const version = valueOf(parameters, 'version');
    const quality = Number(valueOf(parameters, 'q') ?? 1);
    if (type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0')) {
      best.openmetrics = Math.max(best.openmetrics, quality);
    } else if (type === 'text/plain' && (version === undefined || version === '0.0.4')) {
      best.text = Math.max(best.text, quality);
    }
  }
  return best.openmetrics > best.text ? 'openmetrics' : 'text';
}

function valueOf(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.find((parameter) => parameter.startsWith(`${name}=`));
  return found?.slice(name.length + 1).replaceAll('"', '');
}
