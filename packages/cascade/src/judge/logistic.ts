/** A fitted logistic regression: log-odds = bias + sum of weight times standardised feature. */
export interface Logistic {
  bias: number;
  weights: number[];
  means: number[];
  scales: number[];
}

const MOST_STEPS = 50;
const ENOUGH = 1e-10;

/**
 * Newton's method on the L2-penalised log-likelihood of standardised features; the bias is not penalised, so the mean
 * probability is the share of positives. Deterministic; the penalty keeps separable data finite.
 */
export function fitLogistic(
  rows: readonly (readonly number[])[],
  labels: readonly boolean[],
  l2 = 1,
): Logistic {
  const { means, scales } = measure(rows);
  const x = rows.map((row) => [1, ...row.map((value, j) => (value - (means[j] ?? 0)) / (scales[j] ?? 1))]);
  const y = labels.map(Number);
  let theta: number[] = Array.from({ length: means.length + 1 }, () => 0);
  let value = penalised(x, y, theta, l2);
  for (let step = 0; step < MOST_STEPS; step++) {
    const { gradient, hessian } = derivatives(x, y, theta, l2);
    const full = solve(hessian, gradient);
    let size = 1;
    let next = theta;
    let found = value;
    // The likelihood is concave: some part of Newton's step raises it, until rounding is all that is left.
    for (; size > 1e-6; size /= 2) {
      next = theta.map((t, j) => t + size * (full[j] ?? 0));
      found = penalised(x, y, next, l2);
      if (found >= value) break;
    }
    if (found < value) break;
    const gained = found - value;
    theta = next;
    value = found;
    if (gained < ENOUGH) break;
  }
  const [bias = 0, ...weights] = theta;
  return { bias, weights, means, scales };
}

export function logOdds(model: Logistic, row: readonly number[]): number {
  return row.reduce(
    (sum, value, j) =>
      sum + ((model.weights[j] ?? 0) * (value - (model.means[j] ?? 0))) / (model.scales[j] ?? 1),
    model.bias,
  );
}

export function sigmoid(score: number): number {
  return score >= 0 ? 1 / (1 + Math.exp(-score)) : 1 - 1 / (1 + Math.exp(score));
}

function measure(rows: readonly (readonly number[])[]): { means: number[]; scales: number[] } {
  const width = rows[0]?.length ?? 0;
  const means = Array.from({ length: width }, (_, j) => average(rows.map((row) => row[j] ?? 0)));
  const scales = means.map((mean, j) => {
    const spread = Math.sqrt(average(rows.map((row) => ((row[j] ?? 0) - mean) ** 2)));
    // A feature that never varied says nothing; a scale of one leaves its weight at nought.
    return spread > 1e-9 * (1 + Math.abs(mean)) ? spread : 1;
  });
  return { means, scales };
}

function penalised(x: number[][], y: number[], theta: number[], l2: number): number {
  let value = 0;
  x.forEach((row, i) => {
    const score = dot(row, theta);
    value += (y[i] ?? 0) * score - softplus(score);
  });
  for (const weight of theta.slice(1)) value -= (l2 / 2) * weight ** 2;
  return value;
}

function derivatives(x: number[][], y: number[], theta: number[], l2: number) {
  const width = theta.length;
  const gradient = theta.map((weight, j) => (j === 0 ? 0 : -l2 * weight));
  const hessian = theta.map((_, j) => theta.map((_, k) => (j === k ? (j === 0 ? 1e-9 : l2) : 0)));
  x.forEach((row, i) => {
    const p = sigmoid(dot(row, theta));
    const curvature = p * (1 - p);
    for (let j = 0; j < width; j++) {
      const own = row[j] ?? 0;
      gradient[j] = (gradient[j] ?? 0) + own * ((y[i] ?? 0) - p);
      const line = hessian[j] ?? [];
      for (let k = 0; k <= j; k++) line[k] = (line[k] ?? 0) + curvature * own * (row[k] ?? 0);
    }
  });
  return { gradient, hessian };
}

/** Solves A x = b for a symmetric positive definite A of which the lower half is given, by Cholesky. */
function solve(a: number[][], b: number[]): number[] {
  const n = b.length;
  const l: number[][] = [];
  const forward: number[] = [];
  for (let i = 0; i < n; i++) {
    const row: number[] = [];
    for (let j = 0; j <= i; j++) {
      let sum = a[i]?.[j] ?? 0;
      for (let k = 0; k < j; k++) sum -= (row[k] ?? 0) * ((j === i ? row : l[j])?.[k] ?? 0);
      row.push(i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (l[j]?.[j] ?? 1));
    }
    l.push(row);
    forward.push(((b[i] ?? 0) - dot(row.slice(0, i), forward)) / (row[i] ?? 1));
  }
  const x: number[] = Array.from({ length: n }, () => 0);
  for (let i = n - 1; i >= 0; i--) {
    let sum = forward[i] ?? 0;
    for (let k = i + 1; k < n; k++) sum -= (l[k]?.[i] ?? 0) * (x[k] ?? 0);
    x[i] = sum / (l[i]?.[i] ?? 1);
  }
  return x;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function softplus(score: number): number {
  return Math.max(score, 0) + Math.log1p(Math.exp(-Math.abs(score)));
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
