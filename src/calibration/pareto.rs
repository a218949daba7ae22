//! Who is not beaten on all axes at once?

/// Whether each point is on the front: no other is at least as great on every axis and greater on one. A point with an
/// unknown axis is not judged.
pub(super) fn front(points: &[Option<[f64; 3]>]) -> Vec<Option<bool>> {
    let beats = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).all(|(a, b)| a >= b) && a != b;
    points.iter().map(|point| point.map(|point| !points.iter().flatten().any(|other| beats(other, &point)))).collect()
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn beaten_points_are_behind_and_equal_ones_are_not() {
        let points = [
            Some([0.9, -10.0, -5.0]),
            Some([0.8, -1.0, -9.0]),
            Some([0.8, -2.0, -9.0]),
            Some([0.9, -10.0, -5.0]),
            None,
        ];
        assert_eq!(front(&points), [Some(true), Some(true), Some(false), Some(true), None]);
    }
}
