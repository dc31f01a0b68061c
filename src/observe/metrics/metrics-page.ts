import { METRIC_GROUPS, type MetricKind } from './metric-groups.ts';
import { NAMINGS, type Labels, type NamingName } from './metric-names.ts';
import type { MetricSet } from './metric-set.ts';

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
  /** Names that two namings share are written by the first one alone: sums over them would count twice. */
  readonly writer: string;
  /** Samples as they stand on the page. */
  readonly lines: string[];
}

const OWN = 'own';

/** One page of samples, in the namings that are wanted. */
export class MetricsPage {
  readonly #namings: readonly NamingName[];
  readonly #families = new Map<string, Family>();

  constructor(namings: readonly NamingName[]) {
    this.#namings = namings;
  }

  /** A measure of Connect or of its clients, in every naming. An attribute that no table describes is a bug of ours. */
  add(set: MetricSet): void {
    const group = METRIC_GROUPS[set.group];
    for (const [attribute, value] of Object.entries(set.values)) {
      const described = group?.[attribute];
      if (described === undefined) throw new Error(`No metric ${set.group} ${attribute} is described`);
      const [kind, help] = described;
      for (const naming of this.#namings) {
        for (const { name, labels, value: number } of NAMINGS[naming](set, attribute, value)) {
          this.#sample(name, typeOf(kind), help, naming, sampleLine(name, labels, number));
        }
      }
    }
  }

  /** One of this worker's own, under one name. */
  gauge(name: string, help: string, labels: Labels, value: number): void {
    this.#sample(name, 'gauge', help, OWN, sampleLine(name, labels, value));
  }

  /** As `gauge`; `name` ends in `_total`. */
  counter(name: string, help: string, labels: Labels, value: number): void {
    this.#sample(name, 'counter', help, OWN, sampleLine(name, labels, value));
  }

  /** One sample of a family of several names, such as a histogram with its buckets. */
  part(family: string, type: FamilyType, help: string, sample: { name: string; labels: Labels; value: number }): void {
    this.#sample(family, type, help, OWN, sampleLine(sample.name, sample.labels, sample.value));
  }

  /** Says what a family is before, or without, any sample. */
  declare(name: string, type: FamilyType, help: string): void {
    if (!this.#families.has(name)) this.#families.set(name, { type, help, writer: OWN, lines: [] });
  }

  text(format: MetricsFormat): string {
    const parts: string[] = [];
    for (const [name, family] of this.#families) {
      const [shown, type] = format === 'text' ? [name, family.type] : this.#inOpenMetrics(name, family);
      parts.push(`# HELP ${shown} ${helpText(family.help)}\n# TYPE ${shown} ${type}\n`, ...family.lines);
    }
    if (format === 'openmetrics') parts.push('# EOF\n');
    return parts.join('');
  }

  #sample(name: string, type: FamilyType, help: string, writer: string, line: string): void {
    const family = this.#families.get(name);
    if (family === undefined) this.#families.set(name, { type, help, writer, lines: [line] });
    else if (family.writer === writer) family.lines.push(line);
  }

  /** There a counter is named without `_total`, its samples with it; Java's names do not always end so. */
  #inOpenMetrics(name: string, { type }: Family): readonly [name: string, type: string] {
    if (type !== 'counter') return [name, type];
    const base = name.endsWith('_total') ? name.slice(0, -'_total'.length) : name;
    return base === name || this.#families.has(base) ? [name, 'unknown'] : [base, type];
  }
}

function typeOf(kind: MetricKind): FamilyType {
  return kind === 'counter' ? 'counter' : 'gauge';
}

function sampleLine(name: string, labels: Labels, value: number): string {
  let pairs = '';
  for (const label in labels) pairs += `${pairs === '' ? '' : ','}${label}="${labelText(labels[label] ?? '')}"`;
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${numberText(value)}\n`;
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
 * What a client that sends `accept` is answered in: OpenMetrics where it prefers that to plain text, as Prometheus does; else
 * plain text, also where it asks for neither, as Prometheus' own clients answer.
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
