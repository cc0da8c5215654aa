import javax.persistence.Column;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.Table;
import org.hibernate.annotations.GenericGenerator;

// snippet: drawn
@Entity
@Table(name = "author")
public class DrawnAuthor {
    @Id
    @GeneratedValue(generator = "snowflake")
    @GenericGenerator(name = "snowflake", strategy = "Snowflakes")
    long id;

    @Column(nullable = false)
    String name;
    // snippet: end

    protected DrawnAuthor() {}

    DrawnAuthor(String name) {
        this.name = name;
    }
}
