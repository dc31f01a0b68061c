import type { Finding } from '../../data/finding.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { Section } from './examination.ts';

type Level = Finding['level'];

const COLOURS: Readonly<Record<Level, number>> = { ok: 32, warn: 33, fail: 31 };

/** The worst of all findings. */
export function worstOf(sections: readonly Section[]): Level {
  const levels = new Set(sections.flatMap(({ findings }) => findings.map(({ level }) => level)));
  return levels.has('fail') ? 'fail' : levels.has('warn') ? 'warn' : 'ok';
}

/** One line of JSON. */
export function jsonReport(sections: readonly Section[], version: string, secrets: SecretMask): string {
  return secrets.hide(JSON.stringify({ version, status: worstOf(sections), sections }));
}

/** The report as text: a heading for each section, a line for each finding, and its fix below. */
export function textReport(sections: readonly Section[], secrets: SecretMask, colours: boolean): string {
  const level = (name: Level): string => {
    const text = name.padEnd(4);
    return colours ? `\x1b[${String(COLOURS[name])}m${text}\x1b[0m` : text;
  };
  const lines = sections
    .filter(({ findings }) => findings.length > 0)
    .flatMap(({ name, findings }) => [
      plain(name),
      ...findings.flatMap((finding) => [
        `  ${level(finding.level)}  ${plain(finding.about)}: ${plain(finding.message)}`,
        ...(finding.remedy === undefined ? [] : [`        fix: ${plain(finding.remedy)}`]),
      ]),
      '',
    ]);
  return secrets.hide([...lines, summary(sections), ''].join('\n'));
}

function summary(sections: readonly Section[]): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: Level) => all.filter((finding) => finding.level === level).length;
  const [fails, warns] = [count('fail'), count('warn')];
  return `${String(count('ok'))} ok, ${String(warns)} to look at, ${String(fails)} to fix`;
}

/** One line without control characters, because texts of brokers and databases may contain them. */
function plain(text: string): string {
  return text.replace(/[\n\r\t]+/g, ' ').replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '?');
}
