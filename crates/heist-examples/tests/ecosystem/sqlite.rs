//! sqlx, which calls Tokio's runtime by name, with SQLite.

use crate::support::runtime_with_tokio;
use heist::task::JoinSet;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

/// Several connections to one file, used by more tasks than there are connections.
#[test]
fn tasks_share_a_pool() {
    let file = std::env::temp_dir().join(format!("heist-sqlite-{}.db", std::process::id()));
    let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    runtime_with_tokio().block_on(async {
        let pool = SqlitePoolOptions::new().max_connections(3).connect_with(options).await.unwrap();
        sqlx::query("CREATE TABLE squares (n INTEGER PRIMARY KEY, square INTEGER NOT NULL)")
            .execute(&pool)
            .await
            .unwrap();
        let mut tasks = JoinSet::new();
        for n in 1..=30_i64 {
            let pool = pool.clone();
            tasks.spawn(async move {
                let insert = sqlx::query("INSERT INTO squares VALUES (?, ?)").bind(n).bind(n * n);
                insert.execute(&pool).await.unwrap().rows_affected()
            });
        }
        assert_eq!(tasks.join_all().await, [1; 30]);

        // What is not committed has not happened.
        let mut transaction = pool.begin().await.unwrap();
        sqlx::query("DELETE FROM squares").execute(&mut *transaction).await.unwrap();
        drop(transaction);
        let sum = sqlx::query_scalar::<_, i64>("SELECT SUM(square) FROM squares");
        assert_eq!(sum.fetch_one(&pool).await.unwrap(), 9455);

        let twice = sqlx::query("INSERT INTO squares VALUES (1, 1)").execute(&pool).await;
        assert!(twice.unwrap_err().as_database_error().unwrap().is_unique_violation());
        pool.close().await;
    });
    std::fs::remove_file(&file).unwrap();
}
